//go:build linux

package isolation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// A box can be made before anybody wants it: Warm lets its services start what
// takes long, and Claim makes it its owner's.

// Claims tells whether a claim can give the box what a spec asks for: the rest of
// it was settled when it was made.
func (b *Box) Claims(spec Spec) bool {
	spec = spec.withDefaults()
	if len(spec.Mounts) > 0 || spec.DiskMB != DefaultDiskMB || spec.Layer != "" || spec.validate() != nil {
		return false
	}
	return spec.hasDefaultLimits() || !slices.ContainsFunc(b.Limits(), func(l Limit) bool {
		return l.Name != "disk" && !b.cage.holds(l.Name)
	})
}

// Warm returns when the services inside have started what takes long.
func (b *Box) Warm(ctx context.Context) error {
	return b.askInit(ctx, boot.Message{Op: boot.OpWarm})
}

// Claim gives the box the variables and limits of a spec that it Claims, and
// closes its way out where the spec has no Internet. It is for a box that nobody
// was served by. After an error the box is of no use.
func (b *Box) Claim(ctx context.Context, spec Spec) error {
	spec = spec.withDefaults()
	if err := b.resize(spec); err != nil {
		return err
	}
	c := boot.Claim{Envs: maps.Clone(b.env), Internet: spec.Internet, CPUs: spec.CPUs, MemoryBytes: b.memoryLimit()}
	if c.Envs == nil {
		c.Envs = map[string]string{}
	}
	maps.Copy(c.Envs, spec.Envs)
	doc, err := boot.Document(c)
	if err != nil {
		return err
	}
	defer doc.Close()
	return b.askInit(ctx, boot.Message{Op: boot.OpClaim}, doc)
}

// resize changes the limits, and lets the box have its share of the processors.
func (b *Box) resize(spec Spec) error {
	b.cage.weigh(usualWeight)
	if spec.hasDefaultLimits() {
		return nil
	}
	limits, err := b.cage.relimit(spec)
	if err != nil {
		return fmt.Errorf("change limits: %w", err)
	}
	b.claiming.Lock()
	defer b.claiming.Unlock()
	disk := b.limits[len(b.limits)-1]
	b.limits, b.memory = append(limits, disk), int64(spec.MemoryMB)*mebibyte
	return nil
}

func (b *Box) memoryLimit() int64 {
	b.claiming.Lock()
	defer b.claiming.Unlock()
	return b.memory
}

// askInit sends process 1 a message and waits for its answer.
func (b *Box) askInit(ctx context.Context, m boot.Message, files ...*os.File) error {
	ours, theirs, err := boot.Pair()
	if err != nil {
		return err
	}
	defer ours.Close()
	err = b.post(ctx, m, append(files, theirs)...)
	_ = theirs.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer, received, err := boot.Receive(ours)
	closeFiles(received)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return ErrGone
	case answer.Op != boot.OpReady:
		return errors.New(answer.Error)
	}
	return nil
}
