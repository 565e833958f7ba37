// The bytes on the disk: no secret is readable in the database, its write-ahead log, or a backup.
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { AuthCredential } from '../../core/content/auth.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

const KEY = { appName: 'shop', userId: 'ada' }
/** Secrets with characters that JSON, URLs and base64 encode differently. */
const CANARIES: readonly string[] = Array.from({ length: 20 }, (_, index) => `canary-${index}-"x"/+é\n&=${index}-end`)
const c = (index: number): string => CANARIES[index] as string

const CREDENTIALS: readonly AuthCredential[] = [
  { authType: 'apiKey', apiKey: c(0) },
  { authType: 'http', http: { scheme: 'basic', credentials: { username: c(1), password: c(2) } } },
  { authType: 'http', http: { scheme: 'bearer', credentials: { token: c(3) } } },
  {
    authType: 'oauth2',
    oauth2: {
      clientId: c(4),
      clientSecret: c(5),
      authUri: `https://auth.example/?state=${c(6)}`,
      state: c(6),
      authResponseUri: `https://app.example/?code=${c(7)}`,
      authCode: c(7),
      accessToken: c(8),
      refreshToken: c(9),
      idToken: c(10),
      scopes: [c(11)],
    },
  },
  { authType: 'openIdConnect', oauth2: { accessToken: c(12), refreshToken: c(13) } },
  { authType: 'serviceAccount', serviceAccount: { clientEmail: c(14), privateKey: c(15), privateKeyId: c(16) } },
  { authType: 'consent', custom: { verifier: c(17), state: c(18), nested: [{ deep: c(19) }] } },
]

/** A secret as it may appear in bytes: plain, JSON-escaped, URL-encoded, base64 at each of three offsets, hexadecimal. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  const json = JSON.stringify(secret).slice(1, -1)
  const core = secret.slice(0, secret.indexOf('"')) // has nothing to encode, so it is in most forms
  return [secret, json, encodeURIComponent(secret), bytes.toString('hex'), bytes.toString('utf16le'), core, ...inBase64]
}

function findings(folder: string, secrets: readonly string[]): string[] {
  return readdirSync(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name))
    return secrets.flatMap((secret) =>
      formsOf(secret)
        .filter((form) => bytes.includes(form) || bytes.includes(Buffer.from(form, 'utf16le')))
        .map((form) => `${name}: ${form}`),
    )
  })
}

test('no secret is in the bytes of a SQLite file, its write-ahead log or its backups', async () => {
  const file = temporaryFile()
  const folder = dirname(file)
  const services = sqlite(file)
  for (let round = 0; round < 3; round++) {
    for (const [index, credential] of CREDENTIALS.entries()) {
      await services.credentialService.save({ ...KEY, key: `key ${index}`, credential })
    }
  }
  await services.credentialService.delete({ ...KEY, key: 'key 0' })
  // shows that the search finds what is not encrypted
  await services.sessionService.createSession({ ...KEY, sessionId: 's1', state: { note: 'not a secret' } })
  expect(findings(folder, ['not a secret'])).not.toEqual([])

  const copied = `${file}.copy`
  copyFileSync(`${file}-wal`, `${copied}-wal`)
  const names = ['app.db', 'app.db-shm', 'app.db-wal', 'app.db.copy-wal', 'app.db.key']
  expect(readdirSync(folder).sort()).toEqual(names)
  expect(findings(folder, CANARIES)).toEqual([])

  const other = new DatabaseSync(file)
  other.exec(`VACUUM INTO '${join(folder, 'backup.db')}'`)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  copyFileSync(file, copied)
  other.close()
  expect(findings(folder, CANARIES)).toEqual([])
  for (const [index, credential] of CREDENTIALS.entries()) {
    const stored = await services.credentialService.load({ ...KEY, key: `key ${index}` })
    expect(stored?.credential).toEqual(index === 0 ? undefined : credential)
  }
  services.close()
  expect(findings(folder, CANARIES)).toEqual([])
})
