import type { AuthCredential } from '../../../core/content/auth.ts'
import { saveRecord } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'

const ATTEMPTS = 3
const PAUSE_MS = 100

/**
 * Saves new tokens. Tries again if the store fails, because the server issues them once. Returns false if another writer
 * has changed the stored generation. Throws STORAGE.
 */
export async function saveTokens(
  services: AuthServices,
  record: { key: string; credential: AuthCredential; expectedGeneration?: number | undefined },
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await saveRecord(services, record)) !== undefined
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await new Promise<void>((resolve) => void services.ports.setTimer(resolve, PAUSE_MS * attempt))
    }
  }
}
