import { isRecord } from '../../../core/base/json.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { messageOf, ToolError, ToolwrightError } from '../../../core/error/error.ts'
import { applyCredential } from '../../../services/auth/apply-credential.ts'
import type { ApiOperation } from '../operation.ts'
import { checkNames, type OwnField } from '../request/check-names.ts'
import type { SecurityConfig } from './choose-security.ts'

/** Refuses arguments that name the parameter or the cookie of an API key. */
export function checkKeyNames(operation: ApiOperation, configs: readonly SecurityConfig[], args: unknown): void {
  const keys = configs.flatMap(({ authScheme: scheme }): OwnField[] => {
    return scheme.type === 'apiKey' && scheme.in !== 'header' ? [{ in: scheme.in, name: scheme.name }] : []
  })
  if (keys.length > 0) checkNames(operation, new Map(Object.entries(isRecord(args) ? args : {})), keys)
}

/** Adds the credentials. `applyCredential` refuses every other origin. */
export function attachCredentials(
  request: Request,
  configs: readonly SecurityConfig[],
  credentials: readonly AuthCredential[],
  origin: string,
): Request {
  try {
    return configs.reduce((made, { authScheme }, at) => {
      const credential = credentials[at]
      if (!credential) throw new ToolError('The call has no credential for the API.', { code: 'AUTH_FAILED' })
      return applyCredential(made, { authScheme, credential, origin })
    }, request)
  } catch (error) {
    if (error instanceof ToolwrightError) throw new ToolError(messageOf(error), { code: 'AUTH_FAILED' })
    throw error
  }
}
