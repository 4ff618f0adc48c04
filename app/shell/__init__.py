"""The window itself: its menus, appearance, help, start and end, and what joins the features."""
