import assert from 'node:assert/strict'
import { errorFromJSON, FileOperationError, InvalidArgumentError, SandboxError } from './made/errors.ts'
import { BoxesMethods, boxesOpenParams } from './made/methods.ts'
import { type Box, type BoxesPackOptions, type CallOptions, Colour } from './made/public.ts'

const answer = {
  madeAt: '2026-01-02T03:04:05.123456789Z',
  colour: 'pink',
  label: { text: 't', print_at: '2026-01-02T03:04:05Z' },
  labels: null,
  by_name: { A_b: [{ text: 'u', glue_ms: 1500 }] },
  lasting_ms: 250,
}
const sent: unknown[] = []

class Boxes extends BoxesMethods {
  protected async call<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    sent.push([method, JSON.parse(JSON.stringify(params)), options?.requestTimeoutMs])
    return (method === 'boxes.count' ? [answer] : answer) as T
  }
  protected callNow<T>(method: string, params: object): T {
    return `${method} ${JSON.stringify(params)}` as T
  }
}

const boxes = new Boxes()
const options: BoxesPackOptions = {
  waitMs: 0.2,
  maxWeight: 2.5,
  labels: [{ text: 'x', printAt: new Date(0) }],
  colour: Colour.DARK_BLUE,
  since: new Date(1000),
  words: ['a'],
  any: { x: 1 },
  requestTimeoutMs: 3,
}
const box: Box = await boxes.pack('n', 'me', options)
assert.deepEqual(sent.pop(), [
  'boxes.pack',
  {
    name: 'n',
    from: 'me',
    wait_ms: 1,
    max_weight: 2.5,
    labels: [{ text: 'x', print_at: '1970-01-01T00:00:00.000Z' }],
    colour: 'dark-blue',
    since: '1970-01-01T00:00:01.000Z',
    words: ['a'],
    any: { x: 1 },
  },
  3,
])
assert.deepEqual(await boxes.count(), [box])
assert.equal(boxes.address(3), 'boxes.address {"shelf":3}')
assert.deepEqual(boxesOpenParams({ key: 'k' }), { key: 'k' })
assert.equal('open' in boxes, false)
sent.length = 0

assert.equal(box.madeAt.getTime(), Date.UTC(2026, 0, 2, 3, 4, 5, 123))
const colour: Colour = box.colour
assert.equal(colour, 'pink')
assert.deepEqual([box.labels, box.tags, box.full, box.weight, box.nick, box.sealed], [[], {}, false, 0, undefined, undefined])
assert.equal(box.byName.A_b?.[0]?.glueMs, 1500)
assert.equal(box.label?.printAt?.getTime(), Date.UTC(2026, 0, 2, 3, 4, 5))
assert.equal(box.lastingMs, 250)

for (const [bad, text] of [
  [{ waitMs: Number.NaN }, /^waitMs must be a number of milliseconds/],
  [{ waitMs: '3' }, /^waitMs must be/],
  [{ since: 'now' }, /^since must be a valid Date/],
  [{ since: new Date('x') }, /^since must be/],
  [{ words: ['a', 5] }, /^words\[1\] must be a string/],
  [{ labels: [{ text: 5 }] }, /^labels\[0\]\.text must be a string/],
  [{ labels: [{}] }, /^labels\[0\]\.text must be given/],
  [{ labels: [{ text: 'x', printat: 1 }] }, /^unknown option 'printat' of labels\[0\]: did you mean 'printAt'\?/],
  [{ wait: 3 }, /^unknown option 'wait' of boxes\.pack: did you mean 'waitMs'\?/],
] as const) {
  await assert.rejects(boxes.pack('n', undefined, bad as never), (e) => {
    assert.ok(e instanceof InvalidArgumentError)
    assert.match(e.message, text)
    return true
  })
}
await assert.rejects(boxes.pack(undefined as never), /name must be given/)
assert.equal(sent.length, 0)

const cause = new Error('below')
const error = errorFromJSON({ code: 'E4001', message: 'no', suggestion: 'do', limit_ms: 0, retry_after_ms: 5 }, 'p', cause)
assert.ok(error instanceof FileOperationError && error instanceof SandboxError && error instanceof Error)
assert.equal(error.name, 'SandboxFileNotFoundError')
assert.deepEqual([error.code, error.message, error.limitMs, error.retryAfterMs, error.partial, error.cause], ['E4001', 'no', 0, 5, 'p', cause])
assert.equal(String(error), 'SandboxFileNotFoundError: E4001: no (do)')
assert.ok(error.stack?.startsWith(String(error)), error.stack)
assert.deepEqual(JSON.parse(JSON.stringify(error)), {
  name: 'SandboxFileNotFoundError',
  message: 'no',
  code: 'E4001',
  suggestion: 'do',
  limitMs: 0,
  retryAfterMs: 5,
  partial: 'p',
})
const unknown = errorFromJSON({ code: 'E9999', message: 'm' })
assert.deepEqual([unknown.constructor, unknown.code, unknown.name], [SandboxError, 'E9999', 'SandboxError'])
assert.equal(new InvalidArgumentError('x').code, 'E8000')

const spelt = errorFromJSON({
  ...{ code: 'E8000', message: 'wait_ms must be set', option: 'wait_ms', suggestion: 'as max_weight' },
  message_parts: [{ option: 'wait_ms' }, { text: ' must be set' }],
  suggestion_parts: [{ text: 'as ' }, { option: 'box.max_weight' }],
})
assert.deepEqual([spelt.message, spelt.option, spelt.suggestion], ['waitMs must be set', 'waitMs', 'as box.maxWeight'])
