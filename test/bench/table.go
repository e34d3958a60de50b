package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

// table prints rows under a title, its columns aligned.
type table struct {
	title string
	rows  [][]string
}

func newTable(title string, columns ...string) *table {
	return &table{title: title, rows: [][]string{columns}}
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() error {
	if _, err := fmt.Printf("\n%s\n", t.title); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	for _, row := range t.rows {
		if _, err := fmt.Fprintln(w, "  "+strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", d.Seconds()*1000) }

// signed is a difference that may be a gain.
func signed(d time.Duration) string { return fmt.Sprintf("%+.3f ms", d.Seconds()*1000) }

func times(a, b time.Duration) string { return fmt.Sprintf("%.1fx", a.Seconds()/b.Seconds()) }

func mb(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20)) }
