import { expect, test } from 'vitest'
import { AudioInput, decodeBase64 } from './audio.ts'

const bytes = (samples: readonly number[]): Uint8Array => new Uint8Array(Int16Array.from(samples).buffer)
const samples = (data: Uint8Array): number[] => [...new Int16Array(data.slice().buffer)]

test('leaves audio at the rate of the session unchanged', () => {
  const data = bytes([1, 2, 3])
  const input = new AudioInput()
  expect(input.convert(data, 'audio/pcm;rate=24000', 'audio/pcm')).toBe(data)
  expect(input.convert(data, 'audio/pcm', 'audio/pcm')).toBe(data)
  expect(input.convert(data, 'audio/pcmu', 'audio/pcmu')).toBe(data)
})

test('raises 16 kHz to 24 kHz by interpolation', () => {
  const converted = new AudioInput().convert(bytes([0, 300, 600, 900]), 'audio/pcm;rate=16000', 'audio/pcm')
  expect(samples(converted)).toEqual([0, 200, 400, 600, 800])
})

test('interpolates across chunks as if they were one', () => {
  const ramp = Array.from({ length: 97 }, (_, at) => at * 30)
  const whole = samples(new AudioInput().convert(bytes(ramp), 'audio/pcm; rate=16000', 'audio/pcm'))
  const input = new AudioInput()
  const parts = [ramp.slice(0, 1), ramp.slice(1, 40), ramp.slice(40, 41), [], ramp.slice(41)]
  const joined = parts.flatMap((part) => samples(input.convert(bytes(part), 'audio/pcm; rate=16000', 'audio/pcm')))
  expect(joined).toEqual(whole)
})

test('lowers 48 kHz to 24 kHz, also in a view that starts inside of its buffer', () => {
  const padded = new Uint8Array([9, 9, ...bytes([0, 1, 2, 3, 4, 5])])
  const converted = new AudioInput().convert(padded.subarray(2), 'audio/l16;rate=48000', 'audio/pcm')
  expect(samples(converted)).toEqual([0, 2, 4])
})

test('refuses audio that it cannot convert and says what the session takes', () => {
  const input = new AudioInput()
  expect(() => input.convert(bytes([1]), 'audio/wav', 'audio/pcm')).toThrow(
    'OpenAI Realtime cannot read audio of type "audio/wav": the session takes audio/pcm.',
  )
  expect(() => input.convert(bytes([1]), 'audio/pcm;rate=16000', 'audio/pcmu')).toThrow('the session takes audio/pcmu')
  expect(() => input.convert(bytes([1]), 'audio/pcm;rate=fast', 'audio/pcm')).toThrow('must be a number of hertz')
})

test('decodes base64, and nothing that is malformed', () => {
  expect(decodeBase64('AQL/')).toEqual(Uint8Array.of(1, 2, 255))
  expect(decodeBase64('%%%')).toBeUndefined()
})
