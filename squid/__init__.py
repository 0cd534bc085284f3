"""squid"""
