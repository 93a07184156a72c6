package template

import "strings"

// CodeInterpreter is the template that code runs in unless another is named.
const CodeInterpreter = "code-interpreter-v1"

// Shipped finds a recipe that comes with this program.
func Shipped(name string) (r Recipe, ok bool) {
	if name == CodeInterpreter {
		return codeInterpreter(), true
	}
	return Recipe{}, false
}

// pipFunction is pip for this machine's python3, however it can be had there.
const pipFunction = `set -e
pip() {
	if python3 -m pip --version >/dev/null 2>&1; then
		python3 -m pip "$@"
	elif python3 -m venv /tmp/pip >/dev/null 2>&1; then
		/tmp/pip/bin/pip --python "$(command -v python3)" "$@"
	else
		echo "the python3 of this machine has neither pip nor venv; on Debian and Ubuntu: apt-get install python3-pip" >&2
		return 1
	fi
}
`

// Pip is a step that installs Python packages.
func Pip(packages []string) Step {
	var words strings.Builder
	for _, p := range packages {
		words.WriteString(" '" + strings.ReplaceAll(p, "'", `'\''`) + "'")
	}
	return Step{Title: "pip install " + strings.Join(packages, " "), Run: pipFunction + "pip install --" + words.String()}
}

// codeInterpreter takes nothing of what this machine has installed for Python
// beside Python itself: that may change under the template.
func codeInterpreter() Recipe {
	return Recipe{
		Name: CodeInterpreter, Base: "python-base",
		Description: "python-base with Jupyter kernels for Python, JavaScript, TypeScript and bash, numpy, pandas and matplotlib",
		Steps: []Step{{
			Title: "Python kernel, numpy, pandas, matplotlib, charts",
			Run: pipFunction + `python3 -c 'import sys; sys.exit("the code interpreter needs Python 3.11 or later; python3 of this machine is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
pip install --ignore-installed 'ipykernel>=7,<8' 'numpy>=2.2.6,<3' 'pandas>=2.2,<4' 'matplotlib>=3.10.3,<4' 'e2b-charts==1.0.0'
mkdir -p /usr/local/share/jupyter/kernels/python3
echo '{"argv":["'"$(command -v python3)"'","-m","ipykernel_launcher","-f","{connection_file}"],"display_name":"Python 3","language":"python"}' > /usr/local/share/jupyter/kernels/python3/kernel.json
[ -e /usr/local/bin/python ] || ln -s "$(command -v python3)" /usr/local/bin/python`,
		}, {
			Title: "bash, JavaScript and TypeScript kernels",
			Run: pipFunction + `pip install --no-deps --ignore-installed 'bash_kernel>=0.10,<1' 'filetype<2'
python3 -m bash_kernel.install --prefix /usr/local
if pip install --no-deps --ignore-installed 'deno>=2,<3'; then
	mkdir -p /usr/local/share/jupyter/kernels/deno
	echo '{"argv":["/usr/local/bin/deno","jupyter","--kernel","--conn","{connection_file}"],"display_name":"Deno","language":"typescript"}' > /usr/local/share/jupyter/kernels/deno/kernel.json
else
	echo "no Deno for this kind of machine: no JavaScript and TypeScript"
fi`,
		}, {
			Title: "first start", User: "user",
			// Packages that a cell installs are found at once where their directory was
			// there at the kernel's start.
			Run: `set -e
mkdir -p "$(python3 -m site --user-site)"
python3 -c 'import ipykernel.kernelapp, pandas, matplotlib.pyplot as plt; plt.figure().savefig("/tmp/x.png")'`,
		}},
	}
}
