"""The tables of papers beside what Tutti shows of them: runs, a cache of results, and a page."""
