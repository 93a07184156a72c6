package main

import _ "embed"

//go:embed static/convert.ts
var convertTS string

//go:embed static/convert.py
var convertPy string

func tsConvert() string { return "// " + generated + "\n" + convertTS }

func pyConvert() string { return "# " + generated + "\n" + convertPy }
