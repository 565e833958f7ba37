// Errors of the library advise its own methods. An HTTP client has routes instead.

/** What an HTTP client does instead of calling a function of the library. The longest names come first. */
const ROUTES: readonly [call: string, route: string][] = [
  ['runner.recover() or runner.resume() continues it', 'POST /run with its invocationId continues it'],
  ['approve(), deny() or respond()', 'POST /apps/{app}/users/{user}/sessions/{session}/pending/{request}'],
  ['server.runner.', 'runner.'],
  ['runner.pending()', 'GET /apps/{app}/users/{user}/pending'],
  ['runner.complete()', 'POST /run'],
  ['runner.resume()', 'POST /run with invocationId and without newMessage'],
  ['runner.cancel()', 'POST /apps/{app}/users/{user}/sessions/{session}/cancel'],
  ['runner.run()', 'POST /run'],
  ['respond()', 'POST /apps/{app}/users/{user}/sessions/{session}/pending/{request}'],
  ['message: [part]', '"parts": [part]'],
]

/** The message of an error, with routes instead of functions of the library. */
export function withHttpAdvice(message: string): string {
  return ROUTES.reduce((text, [call, route]) => text.replaceAll(call, route), message)
}
