"""Reference margins and statements of the open runs: workers, panel and timeline."""
