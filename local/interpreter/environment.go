package interpreter

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// checkEnvs refuses variables that no process can have, and those that cannot
// be set in a kernel of the language.
func checkEnvs(language string, in map[string]*string) (map[string]string, error) {
	if len(in) == 0 {
		return nil, nil
	}
	envs := make(map[string]string, len(in))
	for name, value := range in {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, fmt.Errorf("env_vars: invalid name %q", name)
		}
		if value == nil {
			continue
		}
		if strings.IndexByte(*value, 0) >= 0 {
			return nil, fmt.Errorf("env_vars: the value of %s contains a NUL byte", name)
		}
		if language == "bash" && !shellName(name) {
			return nil, fmt.Errorf("env_vars: %q is no name of a shell variable", name)
		}
		envs[name] = *value
	}
	if set, _ := environmentCode(language, envs); set == "" && len(envs) > 0 {
		return nil, fmt.Errorf("env_vars: variables of one call are not supported for language %q: "+
			"set them in the code, or for the whole sandbox", language)
	}
	return envs, nil
}

func shellName(name string) bool {
	ok, _ := regexp.MatchString(`^[A-Za-z_][A-Za-z0-9_]*$`, name)
	return ok
}

// environmentCode sets variables in a kernel of a language, and restores what
// they were before; "" = nothing to do, or no way.
func environmentCode(language string, envs map[string]string) (set, restore string) {
	if len(envs) == 0 {
		return "", ""
	}
	switch language {
	case "python":
		return "(lambda o, e: (setattr(o, '_sandbox_saved', {k: o.environ.get(k) for k in e}), o.environ.update(e)))" +
				"(__import__('os'), " + literal(envs) + ")",
			"(lambda o: [o.environ.pop(k, None) if v is None else o.environ.__setitem__(k, v) " +
				"for k, v in o.__dict__.pop('_sandbox_saved', {}).items()])(__import__('os'))"
	case "javascript", "typescript":
		return "void ((e) => { const p = globalThis.process.env, s = {}; " +
				"for (const k of Object.keys(e)) { s[k] = p[k]; p[k] = e[k] }; " +
				"globalThis[Symbol.for('sandbox.saved')] = s })(" + literal(envs) + ")",
			"void (() => { const p = globalThis.process.env, s = globalThis[Symbol.for('sandbox.saved')] ?? {}; " +
				"for (const k of Object.keys(s)) { if (s[k] === undefined) delete p[k]; else p[k] = s[k] } })()"
	case "r":
		return rEnvironment(envs)
	case "bash":
		return bashEnvironment(envs)
	}
	return "", ""
}

// literal is an object of texts as JSON, which is Python and JavaScript as well.
func literal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n")
}

func rEnvironment(envs map[string]string) (set, restore string) {
	var names, pairs []string
	for _, name := range slices.Sorted(maps.Keys(envs)) {
		names = append(names, literal(name))
		pairs = append(pairs, "`"+strings.ReplaceAll(strings.ReplaceAll(name, `\`, `\\`), "`", "\\`")+"`="+literal(envs[name]))
	}
	set = "invisible({options(.sandbox_saved = Sys.getenv(c(" + strings.Join(names, ", ") + "), unset = NA, names = TRUE)); " +
		"Sys.setenv(" + strings.Join(pairs, ", ") + ")})"
	return set, "invisible(local({s <- getOption('.sandbox_saved'); for (n in names(s)) { if (is.na(s[[n]])) Sys.unsetenv(n) " +
		"else do.call(Sys.setenv, setNames(list(s[[n]]), n)) }; options(.sandbox_saved = NULL)}))"
}

func bashEnvironment(envs map[string]string) (set, restore string) {
	var in, out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(envs)) {
		value := "'" + strings.ReplaceAll(envs[name], "'", `'\''`) + "'"
		fmt.Fprintf(&in, "[ -n \"${%[1]s+x}\" ] && __sandbox_saved_%[1]s=$%[1]s || unset __sandbox_saved_%[1]s; export %[1]s=%[2]s\n", name, value)
		fmt.Fprintf(&out, "[ -n \"${__sandbox_saved_%[1]s+x}\" ] && export %[1]s=\"$__sandbox_saved_%[1]s\" || unset %[1]s; unset __sandbox_saved_%[1]s\n", name)
	}
	return in.String(), out.String()
}
