// Bundles GraphiQL into schema/graph/static, with the licences of everything in it. Run by scripts/graphiql/build.sh.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const out = join(import.meta.dirname, "../../schema/graph/static");
const result = await build({
  entryPoints: ["main.jsx"],
  bundle: true,
  minify: true,
  jsx: "automatic",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  loader: { ".woff": "dataurl", ".woff2": "dataurl", ".ttf": "dataurl", ".svg": "dataurl" },
  define: { "process.env.NODE_ENV": '"production"' },
  outfile: "graphiql.js",
  write: false,
  metafile: true,
});

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const file of result.outputFiles) {
  const hash = createHash("sha256").update(file.contents).digest("hex").slice(0, 12);
  writeFileSync(join(out, `graphiql-${hash}.${file.path.split(".").pop()}`), file.contents);
}

// The licence of each package of which anything is in the bundle.
const roots = new Set(
  Object.entries(result.metafile.outputs)
    .flatMap(([, output]) => Object.entries(output.inputs))
    .filter(([, input]) => input.bytesInOutput > 0)
    .map(([path]) => path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1])
    .filter(Boolean),
);
const texts = [...roots].sort().map((root) => {
  const { name, version, license, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const file = readdirSync(root).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file && existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8").trim() : "";
  return `${name} ${version}, ${license}\n${text || `Source: ${repository?.url ?? repository ?? dirname(root)}`}\n`;
});
writeFileSync(join(out, "LICENSES.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
for (const entry of readdirSync(out)) console.log(entry, readFileSync(join(out, entry)).length);
