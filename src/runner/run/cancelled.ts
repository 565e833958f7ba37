/** Why a run was stopped by somebody who may. */
export class Cancelled extends Error {
  override readonly name: string = 'Cancelled'
}
