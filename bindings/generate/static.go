package main

import _ "embed"

//go:embed static/convert.ts
var convertTS string

//go:embed static/write.ts
var writeTS string

//go:embed static/option.ts
var optionTS string

//go:embed static/convert.py
var convertPy string

func tsConvert() string { return "// " + generated + "\n" + convertTS }

func tsWrite() string { return "// " + generated + "\n" + writeTS }

func tsOption() string { return "// " + generated + "\n" + optionTS }

func pyConvert() string { return "# " + generated + "\n" + convertPy }
