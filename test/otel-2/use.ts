// Makes a process use SDK 2 of OpenTelemetry, and the version of its API that belongs to it.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('@opentelemetry/') && !context.parentURL?.includes('/node_modules/')
    return next(specifier, isOurs ? { ...context, parentURL: import.meta.url } : context)
  },
})
