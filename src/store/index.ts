/**
 * What authors of stores need: the items of a log, leases, the inbox and what an append changes.
 *
 * @module
 */
export type { SealedCredential, SealedCredentialStore } from '../credential/sealed-store.ts'
export type { Denial, Entry, Intent, LogRecord, NewEntry, PhaseRecord, Request } from '../event/event.ts'
export { importedEvents } from '../session/imported-events.ts'
export type {
  AppendOptions,
  HeldLog,
  InboxItem,
  Lease,
  LogPage,
  PendingChanges,
  PendingSummary,
  PostedItem,
  StateReader,
  StateSize,
  UserUsage,
} from '../session/service.ts'
