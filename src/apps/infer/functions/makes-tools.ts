import type ts from 'typescript-classic'
import { isToolwrightSymbol } from './toolwright-types.ts'

/** Whether a function returns a tool, a toolset or a source of tools, also in a promise or a list: it is called, not listed. */
export function makesTools(checker: ts.TypeChecker, fn: ts.Type): boolean {
  return fn.getCallSignatures().some((signature) => isMade(checker, signature.getReturnType()))
}

function isMade(checker: ts.TypeChecker, type: ts.Type): boolean {
  const result = checker.getAwaitedType(type) ?? type
  const members = result.isUnion() ? result.types : [result]
  return members.some((member) => {
    if (checker.isArrayType(member) || checker.isTupleType(member))
      return checker.getTypeArguments(member as ts.TypeReference).some((item) => isMade(checker, item))
    const { symbol } = member
    if (symbol?.name === 'DynamicToolSource' && isToolwrightSymbol(symbol)) return true
    return (hasMethod(member, 'declaration') && hasMethod(member, 'run')) || hasMethod(member, 'listTools')
  })

  function hasMethod(member: ts.Type, name: string): boolean {
    const property = member.getProperty(name)
    return property !== undefined && checker.getTypeOfSymbol(property).getCallSignatures().length > 0
  }
}
