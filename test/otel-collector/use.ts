// Makes a process use the SDK in the folder of SDK_FOLDER, and export in the format of EXPORTER: http (JSON) or proto.
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { SDK_FOLDER = '', EXPORTER = '' } = process.env
const parentURL = pathToFileURL(join(SDK_FOLDER, 'use.js')).href

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/node_modules/'))
      return next(specifier, context)
    return next(specifier.replace(/-otlp-http$/, `-otlp-${EXPORTER}`), { ...context, parentURL })
  },
})
