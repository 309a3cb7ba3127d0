#!/bin/sh
# Builds GraphiQL anew: needs Node.js 20.11 or newer and npm. The result is committed, so that running Coffret needs neither.
set -eu
cd "$(dirname "$0")"
npm install --no-package-lock --no-audit --no-fund --silent
node build.mjs
rm -rf node_modules
