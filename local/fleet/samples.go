package fleet

import (
	"sync"
	"time"
)

const (
	// sampleEvery is how often a running sandbox is measured.
	sampleEvery = 5 * time.Second
	// sampleFresh is how old the newest sample may be when somebody asks.
	sampleFresh = time.Second
	// sampleCount is how many samples are kept: 20 minutes.
	sampleCount = 240
)

// Sample is one measurement.
type Sample struct {
	Time time.Time
	// CPUPercent is the use since the sample before, in percent of one core.
	CPUPercent float64
	Usage      Usage
}

// samples keeps the newest measurements. The zero value is empty.
type samples struct {
	mu   sync.Mutex
	kept []Sample
}

// Samples returns the measurements so far, oldest first, the newest at most a
// second old while the sandbox runs.
func (s *Sandbox) Samples() []Sample {
	s.measure(sampleFresh)
	s.samples.mu.Lock()
	defer s.samples.mu.Unlock()
	return append([]Sample(nil), s.samples.kept...)
}

// measure takes a sample when the newest is older than age.
func (s *Sandbox) measure(age time.Duration) {
	if s.State() != Running {
		return
	}
	s.samples.mu.Lock()
	defer s.samples.mu.Unlock()
	now := time.Now()
	if n := len(s.samples.kept); n > 0 && now.Sub(s.samples.kept[n-1].Time) < age {
		return
	}
	usage, err := s.box.Usage()
	if err != nil {
		// The sandbox is ending; its last sample stands.
		return
	}
	s.samples.add(now, s.spec.StartedAt, usage)
}

func (k *samples) add(now, started time.Time, usage Usage) {
	before := Sample{Time: started}
	if n := len(k.kept); n > 0 {
		before = k.kept[n-1]
	}
	sample := Sample{Time: now, Usage: usage}
	if wall := now.Sub(before.Time); wall > 0 {
		sample.CPUPercent = 100 * float64(usage.CPU-before.Usage.CPU) / float64(wall)
	}
	if len(k.kept) == sampleCount {
		k.kept = append(k.kept[:0], k.kept[1:]...)
	}
	k.kept = append(k.kept, sample)
}
