import { AuthError } from '../auth-error.ts'
import { deleteRecord } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'

/**
 * Deletes the record of a registered client that its authorization server no longer accepts: the next discovery registers a
 * new one. `rawAuthCredential.custom.registration` is the key of the record.
 */
export async function forgetRefusedClient(
  services: AuthServices,
  { rawAuthCredential }: CheckedAuthConfig,
  error: unknown,
): Promise<void> {
  const key = rawAuthCredential?.custom?.registration
  if (typeof key === 'string' && error instanceof AuthError && error.isClientRefused)
    await deleteRecord(services, { key })
}
