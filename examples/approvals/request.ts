// The first command: requests a refund. The refund needs an approval, so the run pauses and this process ends.
//   npx node examples/approvals/request.ts ["Refund 500 EUR for order A-7."]
import runner from './desk.ts'

const [message = 'Refund 500 EUR for order A-7.'] = process.argv.slice(2)
const { text, pending } = await runner.complete({ userId: 'ada', message })

if (text) console.log(text)
for (const { hint } of pending) console.log(`Waiting for approval: ${hint}`)
if (pending.length > 0) console.log('Now: npx node examples/approvals/approve.ts')
await runner.close()
