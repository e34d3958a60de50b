package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Headings that --help has flags under, in its order. Those without one, --help
// itself for instance, come last.
const (
	headListen     = "Where it listens"
	headClients    = "Who may come in"
	headAllowed    = "What may be done"
	headWorkspace  = "The workspace"
	headContainers = "Containers"
	headModel      = "What the model sees"
	headLimits     = "Limits"
	headOperation  = "Operation"
	headOther      = "Flags"
)

var headings = []string{headListen, headClients, headWorkspace, headContainers, headAllowed, headModel, headLimits, headOperation, headOther}

// headingKey is where a flag's annotations have its heading.
const headingKey = "heading"

// under adds to f the flags that add makes, below a heading of --help.
func under(f *pflag.FlagSet, heading string, add func(*pflag.FlagSet)) {
	made := pflag.NewFlagSet(heading, pflag.ContinueOnError)
	made.SortFlags = false
	add(made)
	made.VisitAll(func(flag *pflag.Flag) {
		flag.Annotations = map[string][]string{headingKey: {heading}}
	})
	f.SortFlags = false
	f.AddFlagSet(made)
}

// helpWidth is how many columns --help takes.
const helpWidth = 110

// flagsByHeading is what --help says of flags. There are many for containers,
// which have a topic of their own.
func flagsByHeading(f *pflag.FlagSet) string {
	sets := map[string]*pflag.FlagSet{}
	f.VisitAll(func(flag *pflag.Flag) {
		heading := headOther
		if given := flag.Annotations[headingKey]; given != nil {
			heading = given[0]
		}
		if sets[heading] == nil {
			sets[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			sets[heading].SortFlags = false
		}
		sets[heading].AddFlag(flag)
	})
	var blocks []string
	for _, heading := range headings {
		set := sets[heading]
		switch {
		case set == nil || !set.HasAvailableFlags():
		case heading == headContainers:
			var names []string
			set.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
			half := slices.Index(names, "--cap-drop") // for lines of one length
			blocks = append(blocks, fmt.Sprintf("%s (see mcp-workspace help containers):\n      %s\n      %s", heading,
				strings.Join(names[:half], " "), strings.Join(names[half:], " ")))
		default:
			blocks = append(blocks, heading+":\n"+strings.TrimRight(set.FlagUsagesWrapped(helpWidth), "\n"))
		}
	}
	return strings.Join(blocks, "\n\n")
}

// groupHelp has the help of root and its commands show flags by heading.
func groupHelp(root *cobra.Command) {
	const plain = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	cobra.AddTemplateFunc("flagsByHeading", flagsByHeading)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), plain, "{{flagsByHeading .LocalFlags}}", 1))
}

// containersTopic is what --help leaves out.
func containersTopic() *cobra.Command {
	flags := pflag.NewFlagSet("containers", pflag.ContinueOnError)
	flags.SortFlags = false
	(&containerSettings{}).addFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) { f.Usage = strings.TrimPrefix(f.Usage, "containers: ") })
	return &cobra.Command{
		Use:   "containers",
		Short: "The flags of containers, for --backend docker and podman",
		Long: `Flags for --backend docker and --backend podman. Most are docker run's, by the
same names; docs/containers.md has more.

` + strings.TrimRight(flags.FlagUsagesWrapped(helpWidth), "\n"),
	}
}
