"""How rows come in: from Python, Arrow, files and sockets."""
