# What the cases share. A case is a function that runs in an empty project, as a
# user, with a home of its own and nothing of this machine's settings; `own`
# runs a program like that.

say() { printf '\n== %s\n' "$*"; }

passed=0 failed=0

# case NAME UID FUNCTION [ARG...]: one case; it passes when the function does and
# nothing of it is left behind.
case_() {
	local name=$1 uid=$2 began=$SECONDS
	shift 2
	[[ $name == ${ONLY:-*} ]] || return 0
	home=$run/$name
	project=$home/project
	mkdir -p "$project" "$home"/{tmp,state}
	chown -R "$uid:$uid" "$home"
	own=(env -i "PATH=$path" "HOME=$home" "XDG_STATE_HOME=$home/state" "TMPDIR=$home/tmp")
	[ "$uid" = "$(id -u)" ] || own=(setpriv --reuid "$uid" --regid "$uid" --clear-groups "${own[@]}")
	# Not in the condition itself: there a failing command would not end the case.
	set +e
	(set -e; cd "$project"; trap end_case EXIT; "$@") >"$home.log" 2>&1
	local code=$?
	set -e
	if [ $code = 0 ] && nothing_left >>"$home.log" 2>&1; then
		passed=$((passed + 1))
		printf 'ok      %-32s %3d s\n' "$name" $((SECONDS - began))
	else
		failed=$((failed + 1))
		printf 'FAILED  %-32s %3d s\n' "$name" $((SECONDS - began))
		tail -n 40 "$home.log" | sed 's/^/    /'
	fi
	chmod -R u+w "$home"
	rm -rf "$home"
}

own() { "${own[@]}" "$@"; }

# beside COMMAND...: runs it beside the case, for as long as that lasts: it is
# killed with all that it started, however the case ends.
beside() {
	(exec "${own[@]}" setsid "$@") &
	groups+=($!)
}

groups=()

end_case() {
	local group
	for group in "${groups[@]}"; do
		kill -KILL -- "-$group" "$group" 2>/dev/null || true
		wait "$group" 2>/dev/null || true
	done
	stop_server
}

# expect WHAT COMMAND...: the command prints exactly that on its output.
expect() {
	local want=$1 got
	shift
	got=$("$@") || { echo "$*: exit $?, printed: $got"; return 1; }
	[ "$got" = "$want" ] || { printf '%s printed\n%s\ninstead of\n%s\n' "$*" "$got" "$want"; return 1; }
}

# lacks PATTERN FILE...: nothing in the files matches.
lacks() {
	if grep -rIE -e "$@"; then return 1; fi
}

# from_package PROGRAM: the local server that runs is that program.
from_package() {
	local pid
	pid=$(server_pid)
	[ "$(readlink -f "$1")" = "$(readlink "/proc/$pid/exe")" ] || { echo "the server is $(readlink "/proc/$pid/exe")"; return 1; }
}

server_pid() { sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$home/state/agent-sandbox/server.json" | grep .; }

# stop_server ends the case's server as a user would, and waits for it.
stop_server() {
	local pid
	pid=$(server_pid 2>/dev/null) || return 0
	kill "$pid" 2>/dev/null || true
	for _ in $(seq 200); do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.05
	done
	echo "the server did not end"
}

# nothing_left fails when a process, a mount or a socket of the case is still there.
nothing_left() {
	local link left
	left=$(
		for link in /proc/[0-9]*/{exe,cwd}; do
			case "$(readlink "$link" 2>/dev/null)" in "$home"/*) echo "process ${link//[!0-9]/}" ;; esac
		done
		awk -v home="$home/" 'index($0, home) { print "mount", $5 }' /proc/self/mountinfo
		find "$home/state" "$home/tmp" -type s
	)
	[ -z "$left" ] || { printf 'left behind:\n%s\n' "$left"; return 1; }
}
