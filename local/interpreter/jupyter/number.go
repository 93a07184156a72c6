package jupyter

// standardNumbers gives JSON with null in place of NaN, Infinity and
// -Infinity, which many writers of JSON put where a number is. Text stays.
func standardNumbers(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		switch c := in[i]; c {
		case '"':
			end := textEnd(in, i)
			out = append(out, in[i:end]...)
			i = end
		case 'N', 'I', '-':
			if n := oddNumber(in[i:]); n > 0 {
				out = append(out, "null"...)
				i += n
				continue
			}
			out = append(out, c)
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// textEnd is the index behind the text that begins at start.
func textEnd(in []byte, start int) int {
	for i := start + 1; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(in)
}

// oddNumber is the length of such a token at the beginning of in; 0 = none.
func oddNumber(in []byte) int {
	for _, token := range [...]string{"NaN", "Infinity", "-Infinity", "-NaN"} {
		if len(in) >= len(token) && string(in[:len(token)]) == token {
			return len(token)
		}
	}
	return 0
}
