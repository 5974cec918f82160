"""Pure reports: tables, Markdown, SVG."""
