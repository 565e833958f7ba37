import { expect, test } from 'vitest'
import { detectMimeType } from './mime-type.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

test.each([
  ['plot.png', png, 'image/png'],
  ['plot.html', png, 'image/png'],
  ['data.csv', text('a,b\n1,2'), 'text/csv'],
  ['notes', text('hello'), 'text/plain'],
  ['page.html', text('<script>'), 'text/html'],
  ['drawing.svg', text('<svg onload="x"/>'), 'image/svg+xml'],
  ['lies.png', text('<script>alert(1)</script>'), 'text/plain'],
  ['lies.csv', new Uint8Array([0, 1, 2, 255]), 'application/octet-stream'],
  ['', new Uint8Array(0), 'text/plain'],
  ['sound', text('RIFF....WAVE'), 'audio/wav'],
])('detectMimeType() detects the type of "%s" from its bytes', (name, bytes, type) => {
  expect(detectMimeType(name, bytes)).toBe(type)
})
