"""Studies: their browser, and the window that trains, draws and judges a whole one."""
