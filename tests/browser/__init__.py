"""The checkout as customers walk through it: the real application in a process of its own, a real browser.

`SCREENSHOTS=folder` keeps a picture of every page that is looked at.
"""
