//go:build linux

package isolation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestSudoRunsAsRoot(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "sudo"})
	for script, want := range map[string]string{
		"sudo id -u":                   "0\n",
		"sudo -n id -un":               "root\n",
		"sudo -u user id -un":          "user\n",
		"sudo -u '#1000' id -u":        "1000\n",
		"sudo sh -c 'exit 7'; echo $?": "7\n",
		"exec 2>/dev/null; sudo sh -c 'kill -TERM $$'; echo $?": "143\n",
		"sudo pwd":                                                 "/home/user\n",
		"sudo -i pwd":                                              "/root\n",
		"sudo -i sh -c 'echo $HOME'":                               "/root\n",
		"sudo -s echo 'a  b'":                                      "a  b\n",
		"A=1 sudo sh -c 'echo [$A]'":                               "[]\n",
		"A=1 sudo -E sh -c 'echo [$A]'":                            "[1]\n",
		"A=1 sudo --preserve-env=A sh -c 'echo [$A]'":              "[1]\n",
		"sudo A=2 sh -c 'echo $A $HOME $USER'":                     "2 /root root\n",
		"sudo sh -c 'echo $SUDO_USER $SUDO_UID'":                   "user 1000\n",
		"echo in | sudo cat":                                       "in\n",
		"sudo sh -c 'echo out; echo err >&2' 2>&1":                 "out\nerr\n",
		"sudo /does/not/exist 2>/dev/null; echo $?":                "1\n",
		"sudo -u nobody-here id 2>/dev/null; echo $?":              "1\n",
		"sudo sudo id -u":                                          "0\n",
		"sudo -v; sudo -k; echo $?":                                "0\n",
		"sudo sh -c 'sleep 0.1; echo late' | cat":                  "late\n",
		"seq 1 50000 | sudo md5sum":                                run(t, b, "user", "seq 1 50000 | md5sum").Out,
		"for i in 1 2 3; do sudo echo $i; done":                    "1\n2\n3\n",
		"echo 'echo 5' > /tmp/s; sudo sh /tmp/s":                   "5\n",
		"(for i in $(seq 20); do sudo true & done; wait); echo ok": "ok\n",
	} {
		require.Equal(t, want, run(t, b, "user", script).Out, script)
	}
}

func TestSudoIsForUserAndRootOnly(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "others"})
	if run(t, b, "root", "sudo -u nobody id -un").Out != "nobody\n" {
		t.Skip("one id only")
	}
	r := run(t, b, "root", "sudo -u nobody sudo id -u")
	require.Equal(t, 1, r.Code)
	require.NotContains(t, r.Out, "0\n")
}

func TestSudoEndsWithItsCaller(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "ends"})
	r := run(t, b, "user", "sudo sleep 4321 & sleep 0.3; kill -9 $!; sleep 0.3; pgrep -fx 'sleep 4321' | wc -l")
	require.Equal(t, "0\n", r.Out)
	r = run(t, b, "user", "exec 2>/dev/null; sudo sleep 4322 & sleep 0.3; kill -TERM $!; wait $!; echo $?; pgrep -fx 'sleep 4322' | wc -l")
	require.Equal(t, "143\n0\n", r.Out)
}

func TestSudoHasATerminalOfItsOwn(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "tty"})
	// script(1) gives a terminal.
	r := run(t, b, "user", `script -qec "stty rows 33 cols 77; sudo sh -c 'tty >/dev/null && stty size < /dev/tty; id -u'" /dev/null | sed "s/^^@//"`)
	require.Equal(t, "33 77\r\n0\r\n", r.Out)
	r = run(t, b, "user", `printf 'echo hel""lo\nexit\n' | script -qec "sudo bash" /dev/null | tr -d '\r'`)
	require.Contains(t, r.Out, "\nhello\n")
	require.NotContains(t, r.Out, "no job control")
}
