import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { argumentsOf } from './input.guard.js';

describe('the parameters that a handler takes', () => {
  it('are known by their type, and never mistaken for one of our own decorators', () => {
    const metadata = {
      '3:0': {},
      '3f2a90__customRouteArgs__:1': {},
      '4e12__customRouteArgs__:2': {},
    };
    const types = argumentsOf(metadata);
    expect(types.get(RouteParamtypes.BODY)).toBe(0);
    expect(types.has(RouteParamtypes.QUERY)).toBe(false);
    expect(argumentsOf({ '3f2a90__customRouteArgs__:1': {} }).has(RouteParamtypes.BODY)).toBe(
      false,
    );
  });
});
