package files

// nonblock has no meaning here: pipes are not in the file system.
const nonblock = 0
