"""The data that ships."""
