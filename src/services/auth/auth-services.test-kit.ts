// For tests only: services with a clock that the test sets, and a user who has consented.
import { type Ports, systemPorts } from '../../core/base/ports.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import { InMemoryCredentialService } from '../credential/in-memory.ts'
import type { CredentialKey, CredentialService, StoredCredential } from '../credential/service.ts'
import type { AuthServices, Exchangers } from './auth-services.ts'
import { type CheckedAuthConfig, checkAuthConfig } from './config/check-auth-config.ts'
import { completeOpenConsent } from './consent/complete-open-consent.ts'
import { openConsent } from './consent/open-consent.ts'
import { readConsentAnswer } from './consent/read-consent-answer.ts'
import { UserAgent } from './user-agent.test-kit.ts'

/** Services whose clock a test sets. */
export interface TestServices extends AuthServices {
  /** What was reported to the operator. */
  readonly reports: string[]
  /** Moves the clock forward. */
  advance(seconds: number): void
  /** Loads a stored row. */
  load(key: string): Promise<StoredCredential | undefined>
  /** The same services as another process has them: the store is shared, the objects are not. */
  inOtherProcess(): AuthServices
}

/** Creates services over a store. */
export function createTestServices(
  options: {
    credentialService?: CredentialService
    fetch?: AuthServices['fetch']
    exchangers?: Exchangers
    ports?: Partial<Ports>
  } = {},
): TestServices {
  const { credentialService = new InMemoryCredentialService(), fetch, exchangers } = options
  const reports: string[] = []
  let shift = 0
  const ports = { ...systemPorts, now: () => Date.now() + shift, ...options.ports }
  const scope = { appName: 'shop', userId: 'ada' }
  const report = (problem: string): void => void reports.push(problem)
  return {
    ...scope,
    credentialService,
    ports,
    fetch,
    exchangers,
    report,
    reports,
    advance: (seconds) => {
      shift += seconds * 1000
    },
    load: (key) => credentialService.load({ ...scope, key }),
    inOtherProcess: () => ({
      ...scope,
      credentialService: new SharedStore(credentialService),
      ports,
      fetch,
      exchangers,
      report,
    }),
  }
}

/** Drives the whole consent of a user. The tokens are stored under `key`. */
export async function signIn(services: AuthServices, authConfig: AuthConfig, key: string): Promise<CheckedAuthConfig> {
  const config = checkAuthConfig(authConfig, 'the test')
  const id = services.ports.newId()
  const shown = await openConsent(services, { id, key, config })
  const authResponseUri = await new UserAgent().consent(shown.exchangedAuthCredential?.oauth2?.authUri ?? '')
  const answer = readConsentAnswer({ authResponseUri })
  if (!answer) throw new Error('The callback URL was not read.')
  const outcome = await completeOpenConsent(services, { id, answer, allowedRedirectUris: [] })
  if (outcome.status !== 'stored') throw new Error(outcome.reason)
  return config
}

/** A store of one process: it shares the rows of another store object, and can fail. */
export class SharedStore {
  readonly #rows: CredentialService
  /** Called before each operation. It may throw. */
  before: (operation: 'load' | 'save' | 'delete', key: string) => void = () => {}

  constructor(rows: CredentialService) {
    this.#rows = rows
  }

  async load(key: CredentialKey): Promise<StoredCredential | undefined> {
    this.before('load', key.key)
    return await this.#rows.load(key)
  }

  async save(options: Parameters<CredentialService['save']>[0]): Promise<number> {
    this.before('save', options.key)
    return await this.#rows.save(options)
  }

  async delete(options: Parameters<CredentialService['delete']>[0]): Promise<boolean> {
    this.before('delete', options.key)
    return await this.#rows.delete(options)
  }
}
