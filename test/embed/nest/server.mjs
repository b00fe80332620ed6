import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { toNodeListener } from 'keelson/ui';
import { chat } from './chat.mjs';

class AppModule {}
Module({})(AppModule);

const app = await NestFactory.create(AppModule);
app.use('/api/chat', toNodeListener(chat));
await app.listen(process.env.PORT);
