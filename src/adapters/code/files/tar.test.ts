import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import fc from '../../../core/base/fast-check.test-kit.ts'
import { TarReader, writeTar } from './tar.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-tar-'))
afterAll(() => rmSync(folder, { recursive: true }))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function createSink(remainingBytes = 1_000_000) {
  const files = new Map<string, string>()
  const skipped: string[] = []
  return {
    files,
    skipped,
    remainingBytes,
    add: (name: string, data: Uint8Array) => void files.set(name, Buffer.from(data).toString()),
    skip: (name: string) => void skipped.push(name),
  }
}

function read(archive: Uint8Array, remainingBytes?: number, step = archive.length) {
  const sink = createSink(remainingBytes)
  const reader = new TarReader(sink)
  for (let at = 0; at < archive.length; at += step) reader.push(archive.subarray(at, at + step))
  return sink
}

test('writeTar() writes an archive that GNU tar extracts', () => {
  const long = `${'l'.repeat(150)}.txt`
  const archive = writeTar([
    { name: 'work/', bytes: new Uint8Array(0) },
    { name: 'work/a.txt', bytes: bytes('hello') },
    { name: `work/${long}`, bytes: bytes('long') },
    { name: 'work/empty', bytes: new Uint8Array(0) },
    { name: 'work/ü.bin', bytes: new Uint8Array(1025).fill(7) },
  ])
  execFileSync('tar', ['-xf', '-', '-C', folder], { input: archive })
  expect(readFileSync(join(folder, 'work/a.txt'), 'utf8')).toBe('hello')
  expect(readFileSync(join(folder, 'work', long), 'utf8')).toBe('long')
  expect(readFileSync(join(folder, 'work/empty'))).toHaveLength(0)
  expect(readFileSync(join(folder, 'work/ü.bin'))).toHaveLength(1025)
})

test('TarReader reads an archive of GNU tar in chunks of any size', () => {
  const long = 'l'.repeat(150)
  writeFileSync(join(folder, 'a'), 'one')
  writeFileSync(join(folder, long), 'two')
  writeFileSync(join(folder, 'b'), 'x'.repeat(2000))
  const archive = execFileSync('tar', ['-cf', '-', './a', `./${long}`, './b'], { cwd: folder })
  const whole = new Map([
    ['a', 'one'],
    [long, 'two'],
    ['b', 'x'.repeat(2000)],
  ])
  for (const step of [1, 7, 511, 512, 513, 100_000]) expect(read(archive, undefined, step).files).toEqual(whole)
  expect(read(Buffer.concat([archive, archive])).files).toEqual(whole)
})

test('TarReader ignores links, pipes and folders in an archive', () => {
  symlinkSync('/etc/passwd', join(folder, 'link'))
  writeFileSync(join(folder, 'real'), 'real')
  execFileSync('sh', ['-c', 'ln real hard; mkfifo pipe; mkdir sub'], { cwd: folder })
  const archive = execFileSync('tar', ['-cf', '-', './real', './hard', './link', './pipe', './sub'], { cwd: folder })
  expect(read(archive)).toMatchObject({ files: new Map([['real', 'real']]), skipped: [] })
})

test('TarReader skips a file that is too large and reads the next file', () => {
  const archive = writeTar([
    { name: 'big', bytes: new Uint8Array(5000) },
    { name: 'small', bytes: bytes('s') },
  ])
  expect(read(archive, 100)).toMatchObject({ files: new Map([['small', 's']]), skipped: ['big'] })
})

test('TarReader allocates nothing for a header that claims eight gigabytes', () => {
  const archive = writeTar([{ name: 'huge', bytes: bytes('x') }])
  archive.set(bytes('77777777777'), 124)
  fixChecksum(archive)
  expect(read(archive)).toMatchObject({ files: new Map(), skipped: ['huge'] })
})

test('TarReader passes on the name ../../evil unchanged, for OutputFiles to refuse', () => {
  expect([...read(writeTar([{ name: '../../evil', bytes: bytes('x') }])).files.keys()]).toEqual(['../../evil'])
})

test('TarReader survives random bytes and corrupted archives', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (garbage) => {
      expect(read(garbage).files.size).toBe(0)
    }),
  )
  fc.assert(
    fc.property(fc.nat(1535), fc.nat(255), fc.nat(600), (at, value, step) => {
      const archive = writeTar([{ name: 'a', bytes: bytes('x'.repeat(600)) }])
      archive[at] = value
      read(archive, undefined, step + 1)
    }),
  )
})

function fixChecksum(archive: Uint8Array): void {
  archive.set(bytes('        '), 148)
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  archive.set(bytes(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
}
