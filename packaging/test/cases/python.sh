# Python: wheels installed as a user would, from a directory that has ours and those
# of the libraries that they ask for.

# find_links WHICH: where pip finds packages; `portable` hides the wheel for x86_64.
find_links() {
	case $1 in
	platform) echo "$dist" ;;
	portable) echo "$run/portable" ;;
	esac
}

install_pip() { # PYTHON WHICH
	own "$1" -m venv venv
	own venv/bin/pip install --quiet --disable-pip-version-check --no-index --find-links "$(find_links "$2")" --find-links "$wheels" agent-sandbox
	own venv/bin/pip check
	installed_as "$2"
}

# installed_as WHICH: the wheel that was meant is the one that pip took.
installed_as() {
	package=$(echo "$project"/venv/lib/python3.*/site-packages/agent_sandbox)
	program=$(dirname "$package")/agent_sandbox_local/sandboxc
	[ -s "$package/core.wasm" ] && [ -e "$package/py.typed" ] && [ -x "$program" ]
	[ "$([ -e "$package/core.cwasm" ] && echo platform || echo portable)" = "$1" ]
}

python_programs() {
	expect 'nothing heavy' own venv/bin/python -W error "$programs/python/imports.py"
	expect "$hello" own venv/bin/python -W error "$programs/python/asynchronous.py"
	expect "$hello" own venv/bin/python -W error "$programs/python/blocking.py"
	expect $'hello\n3' own venv/bin/python -W error "$programs/python/from_e2b.py"
	from_package "$program"
}

python_installed() { # PYTHON WHICH
	install_pip "$1" "$2"
	python_programs
	expect 42 own venv/bin/sandboxc run -- python3 -c 'print(6*7)'
	expect "sandboxc $version" cut_version own venv/bin/sandboxc version
	if [ "$2" = portable ]; then
		[ "$(stat -c %a "$home/.cache/agent-sandbox")" = 700 ]
	else
		[ ! -e "$home/.cache/agent-sandbox" ] || { echo "a kept compile that nobody needs"; return 1; }
	fi
}

# read_only seals all but what a server has to keep.
read_only() {
	chmod -R a-w "$home"
	chmod -R u+w "$home/state" "$home/tmp"
}

# As uv installs: no cache, links into one store, no bytecode; then sealed.
python_uv() { # PYTHON
	own "$run/uv" venv --quiet --no-config --python "$1" venv
	own "UV_CACHE_DIR=$home/store" "$run/uv" pip install --quiet --no-config --python venv --link-mode hardlink --no-index \
		--find-links "$dist" --find-links "$wheels" agent-sandbox
	installed_as platform
	[ "$(stat -c %h "$program")" -gt 1 ]
	read_only
	python_programs
}

python_no_cache() { # PYTHON: compiled each time, as nothing can be kept
	install_pip "$1" portable
	read_only
	python_programs
}

# Where there is no wasmtime the program itself runs the core.
python_no_wasmtime() { # PYTHON
	install_pip "$1" platform
	own venv/bin/pip uninstall --quiet --yes wasmtime
	python_programs
}

cases_python() {
	case_ program-of-each-machine "$(id -u)" own python3 "$programs/python/machines.py" "$dist" "$root"
	local python number
	for python in "${pythons[@]}"; do
		number=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		case_ "python-$number" "$(id -u)" python_installed "$python" platform
		case_ "python-$number-portable" "$(id -u)" python_installed "$python" portable
	done
	case_ python-ordinary-user $ordinary python_installed $everyones platform
	case_ python-uv-read-only $ordinary python_uv $everyones
	case_ python-portable-read-only $ordinary python_no_cache $everyones
	case_ python-no-wasmtime "$(id -u)" python_no_wasmtime "${pythons[0]}"
}
