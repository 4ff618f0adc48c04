"""What tests of several folders share: made-up runs, loops, studies, files and stand-ins."""
