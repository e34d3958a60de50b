package vfs

import "syscall"

// entryCost is about how many bytes of memory an entry takes beside its
// content: the inode and its place in the directory.
const entryCost = 384

// reserve makes room in the content of n for size bytes, in a buffer of its own.
func (f *FS) reserve(n *inode, size int64) error {
	have := int64(cap(n.content))
	if size <= have {
		return nil
	}
	more := have // twice as much, and a quarter more once that is much
	if have > 1<<20 {
		more = have / 4
	}
	room := max(size, have+more, 512)
	if most := f.limits.FileBytes; most > 0 {
		room = max(size, min(room, most))
	}
	return f.rebuffer(n, room)
}

// rebuffer puts the content of n into a new buffer of its own, of room bytes.
func (f *FS) rebuffer(n *inode, room int64) error {
	if err := f.memory.Grow(room); err != nil {
		return syscall.ENOMEM
	}
	n.content = append(make([]byte, 0, room), n.content...)
	n.shared = 0
	f.disown(n)
	n.own = room
	return nil
}

// disown gives back what the buffer of n takes, which is another's or nobody's
// now.
func (f *FS) disown(n *inode) {
	f.memory.Free(n.own)
	n.own = 0
}

// forget gives back what n takes, which nothing leads to any more.
func (f *FS) forget(n *inode) {
	n.content = nil
	f.disown(n)
	f.memory.Free(entryCost)
}

// handOver gives back what the buffers of nodes take: the document pays for
// them from now on. When it does not, keep takes it again.
func (f *FS) handOver(nodes []*inode) (keep func()) {
	own := map[*inode]int64{}
	for _, n := range nodes {
		if n.own > 0 {
			own[n] = n.own
			f.disown(n)
		}
	}
	return func() {
		for n, size := range own {
			f.memory.Overdraw(size)
			n.own = size
		}
	}
}
