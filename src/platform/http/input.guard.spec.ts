import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { paramTypes } from './input.guard.js';

describe('the parameters that a handler takes', () => {
  it('are known by their type, and never mistaken for one of our own decorators', () => {
    const metadata = {
      '3:0': {},
      '3f2a90__customRouteArgs__:1': {},
      '4e12__customRouteArgs__:2': {},
    };
    const types = paramTypes(metadata);
    expect(types).toContain(RouteParamtypes.BODY);
    expect(types).not.toContain(RouteParamtypes.QUERY);
    expect(paramTypes({ '3f2a90__customRouteArgs__:1': {} })).not.toContain(RouteParamtypes.BODY);
  });
});
