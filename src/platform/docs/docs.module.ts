import { Module } from '@nestjs/common';
import { DocsController, FaviconController } from './docs.controller.js';
import { ServiceIndexController } from './service-index.controller.js';

@Module({ controllers: [DocsController, FaviconController, ServiceIndexController] })
export class DocsModule {}
