#!/bin/sh
claude mcp add workspace -- mcp-workspace --backend local --root "$PWD"
