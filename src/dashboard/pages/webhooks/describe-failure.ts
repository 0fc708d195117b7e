import { describeEndpointFailure, type EndpointFailure } from '../../../../contracts/dashboard/endpoint-failure.ts'
import { sayFact } from '../../language/facts.ts'
import { describeSince } from './statistics.ts'

/** Why an endpoint fails, in one sentence. */
export function describeFailure(failure: EndpointFailure): string {
  return sayFact(describeEndpointFailure(failure, describeSince))
}
