import { expect, test } from 'vitest'
import type { Part } from '../../core/content/content.ts'
import { type ShownArtifact, showArtifact } from './show-artifact.ts'

const blob = (mimeType: string, data: string): Part => ({ inlineData: { mimeType, data } })
const show = (part: Part): ShownArtifact | undefined => showArtifact(part, { maxTextLength: 10 })

test.each(['image/png', 'IMAGE/JPEG', 'audio/pcm;rate=16000', 'video/mp4', 'application/pdf'])(
  'showArtifact() shows %s as a media part',
  (mimeType) => {
    expect(show(blob(mimeType, 'aGVsbG8='))).toEqual({
      shown: { mimeType, bytes: 5 },
      media: blob(mimeType, 'aGVsbG8='),
    })
  },
)

test.each([
  'text/csv',
  'text/plain; charset=utf-8',
  'application/json',
  'image/svg+xml',
  'application/ld+json; profile=x',
])('showArtifact() shows %s as text', (mimeType) => {
  expect(show(blob(mimeType, btoa('a,b')))).toEqual({ shown: { mimeType, text: 'a,b' } })
})

test('showArtifact() decodes base64 as UTF-8 and shortens it', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64url')
  expect(show(blob('text/plain', base64('>>??ü😀')))?.shown.text).toBe('>>??ü😀')
  expect(show(blob('text/plain', base64('😀'.repeat(1000))))?.shown).toEqual({
    mimeType: 'text/plain',
    text: '😀😀😀😀…',
    truncated: true,
  })
  expect(show(blob('text/plain', base64('x'.repeat(10))))?.shown).not.toHaveProperty('truncated')
})

test.each(['application/zip', 'application/octet-stream', 'font/woff2', ''])(
  'showArtifact() describes a file of type %j, which models cannot read',
  (mimeType) => {
    const note = 'files of this type cannot be shown'
    expect(show(blob(mimeType, 'AAAA'))).toEqual({ shown: { mimeType, bytes: 3, note } })
    expect(show({ fileData: { mimeType, fileUri: 'gs://b/f' } })).toEqual({ shown: { mimeType, note } })
  },
)

test('showArtifact() describes text that is not base64', () => {
  expect(show(blob('text/plain', '%%%'))).toMatchObject({ shown: { note: expect.any(String) } })
})

test('showArtifact() passes on a file with a URL', () => {
  const video = { fileData: { fileUri: 'https://example.com/watch' } }
  expect(show(video)).toEqual({ shown: {}, media: video })
  const csv = { fileData: { fileUri: 'gs://b/f.csv', mimeType: 'text/csv' } }
  expect(show(csv)).toEqual({ shown: { mimeType: 'text/csv' }, media: csv })
})

test('showArtifact() returns undefined for a part that is neither text nor a file', () => {
  expect(show({ functionCall: { name: 'f', args: {} } })).toBeUndefined()
})
