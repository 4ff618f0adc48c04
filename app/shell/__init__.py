"""Main window: menus, appearance, help, start and end; joins the features."""
