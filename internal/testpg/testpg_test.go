package testpg_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
)

func TestEachStartHasTablesOfItsOwn(t *testing.T) {
	for range 2 {
		conn, err := pgx.Connect(t.Context(), testpg.Start(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "CREATE TABLE only_here (n int)"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
