package template

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecipesAreCheckedBeforeAnythingIsDone(t *testing.T) {
	step := []Step{{Run: "true"}}
	for name, r := range map[string]Recipe{
		"no name":           {Steps: step},
		"capital letters":   {Name: "Mine", Steps: step},
		"a path":            {Name: "../x", Steps: step},
		"like a flag":       {Name: "-x", Steps: step},
		"too long":          {Name: strings.Repeat("a", 64), Steps: step},
		"a base":            {Name: "python-base", Steps: step},
		"nothing to do":     {Name: "mine"},
		"an empty step":     {Name: "mine", Steps: []Step{{}}},
		"two in one":        {Name: "mine", Steps: []Step{{Run: "true", Files: []File{{Path: "/x"}}}}},
		"a NUL byte":        {Name: "mine", Steps: []Step{{Run: "a\x00b"}}},
		"an unknown user":   {Name: "mine", Steps: []Step{{Run: "true", User: "www-data"}}},
		"a relative path":   {Name: "mine", Steps: []Step{{Files: []File{{Path: "x"}}}}},
		"the root as file":  {Name: "mine", Steps: []Step{{Files: []File{{Path: "/x/.."}}}}},
		"too many steps":    {Name: "mine", Steps: make([]Step, maxSteps+1)},
		"one of two is bad": {Name: "mine", Steps: []Step{{Run: "true"}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			var invalid *InvalidError
			require.ErrorAs(t, r.Check(), &invalid)
		})
	}
	require.NoError(t, (&Recipe{Name: "mine_1-a", Steps: step}).Check())
}

func TestShippedRecipesAreSound(t *testing.T) {
	r, ok := Shipped(CodeInterpreter)
	require.True(t, ok)
	require.NoError(t, r.Check())
	_, ok = Shipped("other")
	require.False(t, ok)
}

func TestPackagesAreWordsOfTheirOwn(t *testing.T) {
	require.True(t, strings.HasSuffix(Pip([]string{"a>=1,<2", "it's; rm -rf x"}).Run, `pip install -- 'a>=1,<2' 'it'\''s; rm -rf x'`))
}
