import { getMessage as publicGet, listMessages as publicList } from '../api/message.ts'
import { commandProcedure, ofAccount } from '../procedure.ts'

export const getMessage = commandProcedure({
  kind: 'query',
  input: ofAccount(publicGet.input.shape),
  output: publicGet.output,
})

export const listMessages = commandProcedure({
  kind: 'query',
  input: ofAccount(publicList.input.shape),
  output: publicList.output,
})
